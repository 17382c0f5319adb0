"""The strategic objective as a loss: :class:`StrategicLoss`, an adapter of :class:`~selfselect.StrategicObjective`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn

from .._validation import FloatArray, check_weights, check_whole
from ..behaviour import Behaviour
from ..constraints import Constraint
from ..counting import GroupCodes
from ..counting.sums import Sums
from ..learning import DescentSettings, StrategicObjective
from .checks import as_array, check_codes, check_labels, check_score

#: Temperatures without a preset: half of the paper's, so that scores are log-odds as in ordinary training.
LOG_ODDS = {"temperature": 1.0, "precision_temperature": 2.5}
#: Sums of which a running average is kept, in the order of the buffer; the largest prediction comes last.
AVERAGED = [field.name for field in fields(Sums) if field.name != "largest"]


class StrategicLoss(nn.Module):
    """Loss among those who apply, for any module that returns one score per person; positive scores are selected.

    Value and gradient are those of :class:`~selfselect.StrategicObjective`, computed in double precision on the CPU.

    Parameters
    ----------
    cost : float, sequence of n_groups floats, or mapping from code to float
        Cost that each group faces, in [0, 1].
    n_groups : int
        Number of groups. Groups are codes from 0 to ``n_groups - 1``, as made by :func:`~selfselect.encode_groups`.
        Constraints and behaviours refer to groups by these codes.
    behaviour : Behaviour, optional
        How people respond; by default :class:`~selfselect.behaviour.BestResponse`.
    constraints : sequence of Constraint, default=()
        Their penalties are added. Only constraints that have a penalty change the training, such as
        :class:`~selfselect.constraints.DemographicParity`.
    decay : float, optional
        For minibatches: factor, in [0, 1), by which running sums per group shrink with each batch. The objective is
        evaluated at the running sums, with the gradient of the batch. By default every batch is the whole data.
    batches_per_epoch : int, default=1
        For minibatches: number by which sums are multiplied, ``len(loader)``, so that they have the size of sums over
        everybody. It matters for behaviours that depend on how many people are selected, such as
        :class:`~selfselect.behaviour.BetaBeliefs`.
    n_scores : int, optional
        Number of scores that are trained at once. Needed only where the loss keeps sums of earlier batches.
    preset : {"released", "paper"}, optional
        Settings of the paper's released code, or of its text, as in :class:`~selfselect.PaperClassifier`. The released
        code corrects the precision by the hard counts of the step before.
    temperature, precision_temperature, application_weight : float, optional
        As in :class:`~selfselect.StrategicObjective`. By default those of the preset; without a preset 1, 2.5 and 1/6.
        Then scores are log-odds, and training can continue from a module trained with ``BCEWithLogitsLoss``.
    **settings
        Other parameters of :class:`~selfselect.StrategicObjective`, such as ``margin``.

    Notes
    -----
    **Minibatches.** The precision of a small group in one batch is noisy, and the objective is not a mean over people:
    without running sums, batches train for another objective. Let running sums remember about one epoch,
    ``decay=1 - 1 / len(loader)``. A group that is missing from a batch keeps its rates in the running sums, and
    its number of people shrinks towards its average per batch. Running sums are bias-corrected buffers in
    ``state_dict``, always in double precision. In evaluation mode (``loss.eval()``) they are neither used nor changed:
    the value is that of the given people. On Adult, 10,000 batches of 256 end within 1% of training on everybody, if
    each has some people of every group (``min_per_group`` of :class:`~selfselect.torch.GroupBatchSampler`). With fewer
    steps, smaller batches, or a group of which a batch has less than one person, they can end well above it, sometimes
    with other groups applying. Compare a few seeds.

    **Start from an ordinary module**: train with ``BCEWithLogitsLoss`` first. A group whose smooth application is
    almost 0 has almost no gradient.

    **Second derivatives** raise an error: behaviours and constraints give first derivatives only, and hard counts,
    which correct the smooth precision, have none.

    Examples
    --------
    >>> loss = StrategicLoss(cost=0.7, n_groups=2)
    >>> score = torch.tensor([1.0, 0.5, -1.0, -0.5], requires_grad=True)
    >>> value = loss(score, y=torch.tensor([1, 1, 0, 1]), group=torch.tensor([0, 0, 0, 1]))
    >>> value.backward()
    >>> score.grad.shape
    torch.Size([4])
    """

    def __init__(
        self,
        cost: Any,
        n_groups: int,
        behaviour: Behaviour | None = None,
        constraints: Sequence[Constraint] = (),
        *,
        decay: float | None = None,
        batches_per_epoch: int = 1,
        n_scores: int | None = None,
        preset: str | None = None,
        temperature: float | None = None,
        precision_temperature: float | None = None,
        application_weight: float | None = None,
        **settings: Any,
    ) -> None:
        super().__init__()
        self.n_groups = check_whole(n_groups, "n_groups", 1)
        self.batches_per_epoch = check_whole(batches_per_epoch, "batches_per_epoch", 1)
        self.n_scores = None if n_scores is None else check_whole(n_scores, "n_scores", 1)
        given = {
            "temperature": temperature,
            "precision_temperature": precision_temperature,
            "application_weight": application_weight,
        }
        chosen = {name: value for name, value in given.items() if value is not None}
        descent = DescentSettings.of(preset, **((LOG_ODDS if preset is None else {}) | chosen))
        objective = StrategicObjective(cost, behaviour, tuple(constraints), **(descent.of_objective | settings))
        self.objective = objective.for_groups(pd.RangeIndex(self.n_groups, name="group"))
        _ = self.objective._costs  # raises if one is outside [0, 1]
        self._corrected_by_previous = descent.corrected_by == "previous"
        if decay is not None and not 0 <= decay < 1:
            raise ValueError(f"decay must lie in [0, 1), got {decay!r}. Use 0.99 for batches, None for the whole data.")
        self.decay = 0.0 if decay is None else float(decay)
        self.keeps_sums = decay is not None or self._corrected_by_previous
        if self.keeps_sums:
            scores = () if self.n_scores is None else (self.n_scores,)
            shape = (len(AVERAGED) + 1, *scores, self.n_groups)
            self.register_buffer("running_sums", torch.zeros(shape, dtype=torch.float64))
            self.register_buffer("n_batches", torch.tensor(0))

    def forward(self, score: Tensor, y: Tensor, group: Tensor, sample_weight: Tensor | None = None) -> Tensor:
        """Value of the objective.

        Parameters
        ----------
        score : tensor of shape (n_rows,) or (n_scores, n_rows)
            One score of each person, or several.
        y : tensor of shape (n_rows,)
            Labels, 1 = qualified.
        group : tensor of whole numbers of shape (n_rows,)
            Code of each person's group.
        sample_weight : tensor of shape (n_rows,), optional
            Weights.

        Returns
        -------
        tensor of shape () or (n_scores,)
        """
        labels = check_labels(y)
        numbers = check_score(score, len(labels))
        codes = check_codes(group, len(labels), self.n_groups)
        weight = check_weights(as_array(sample_weight), len(labels))
        if self.training and self.batches_per_epoch > 1:
            weight = self.batches_per_epoch * (np.ones(len(labels)) if weight is None else weight)
        at = None
        if self.training and self.keeps_sums:
            if numbers.shape[:-1] != tuple(self.running_sums.shape[1:-1]):
                raise ValueError(
                    f"score has shape {numbers.shape}, but the loss keeps sums for n_scores={self.n_scores}. Make it "
                    f"with n_scores={len(numbers) if numbers.ndim == 2 else None}."
                )
            at = self._running
        rows = self.objective.on_rows(labels, GroupCodes(codes, self.objective.groups), weight)
        value: Tensor = _WithGradient.apply(score, *rows.value_and_gradient(numbers, at))
        return value

    def _apply(self, fn: Any, recurse: bool = True) -> StrategicLoss:
        """Move buffers to another device, but keep double precision: half would lose what a batch adds to them."""
        super()._apply(lambda buffer: buffer.to(fn(buffer).device), recurse)
        return self

    def _running(self, sums: Sums) -> Sums:
        """Add the sums of a batch to the running sums, and return these, bias-corrected."""
        assert sums.largest is not None
        kept, seen = self.running_sums, int(self.n_batches)
        before = kept.cpu().numpy().copy()
        batch = np.zeros_like(before)
        for i, name in enumerate(AVERAGED):
            batch[i] = getattr(sums, name)
        running = self.decay * before + (1 - self.decay) * batch
        running[-1] = np.maximum(self.decay * before[-1], sums.largest)
        kept.copy_(torch.from_numpy(running))
        self.n_batches.add_(1)
        average = self._as_sums(running, seen + 1)
        if not (self._corrected_by_previous and seen):
            return average
        previous = self._as_sums(before, seen)
        return replace(average, selected=previous.selected, true_positives=previous.true_positives)

    def _as_sums(self, running: FloatArray, seen: int) -> Sums:
        """Bias-corrected sums after some batches; numbers of people are the same for all scores."""
        averages = dict(zip(AVERAGED, running[:-1] / (1 - self.decay**seen), strict=True))
        for name in ("n", "positives"):
            averages[name] = averages[name].reshape(-1, self.n_groups)[0]
        return Sums(**averages, largest=running[-1])


class _WithGradient(torch.autograd.Function):
    """A value of scores whose gradient is known."""

    @staticmethod
    def forward(ctx: Any, score: Tensor, value: Any, gradient: FloatArray) -> Tensor:
        # in half precision a value would have few digits
        dtype = torch.promote_types(score.dtype, torch.float32)
        ctx.gradient, ctx.dtype = torch.from_numpy(gradient).to(score.device, dtype), score.dtype
        return torch.as_tensor(value, dtype=torch.float64).to(score.device, dtype)

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None, None]:
        if torch.is_grad_enabled():
            raise RuntimeError(
                "StrategicLoss has no second derivatives: behaviours and constraints give first derivatives only. Call "
                "backward without create_graph=True, and use an optimizer of first order."
            )
        return (upstream[..., None] * ctx.gradient).to(ctx.dtype), None, None
