"""How people respond, estimated from logs of applications: who could apply, what was published, and who applied."""

from .behaviours import EstimatedBehaviour, fit_behaviour

__all__ = ["EstimatedBehaviour", "fit_behaviour"]
