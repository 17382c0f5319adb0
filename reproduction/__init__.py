"""The paper's experiments, run with the public interface of selfselect: ``python -m reproduction --help``."""
