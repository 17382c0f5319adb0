"""Text: applications written in three regions; an embedding bag learns which words qualified people use."""

import numpy as np
import torch
from torch import nn

from selfselect.torch import TorchStrategicClassifier

GOOD = "led built solved measured improved taught".split()
WEAK = "tried hoped wished planned thought wanted".split()
FILLER = "the a team project last year with our customers data".split()
CODES = {word: i + 1 for i, word in enumerate(GOOD + WEAK + FILLER)}  # 0 is padding
LENGTH = 12


class BagOfWords(nn.Module):
    """Mean of the words' embeddings, and one score per text."""

    def __init__(self, n_words: int, size: int = 8) -> None:
        super().__init__()
        self.words, self.score = nn.EmbeddingBag(n_words, size, padding_idx=0), nn.Linear(size, 1)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Score of each text, given the codes of its words."""
        return self.score(self.words(tokens))


rng = np.random.default_rng(0)
region = rng.choice(["north", "south", "islands"], size=2400, p=[0.5, 0.35, 0.15])
y = rng.uniform(size=2400) < np.select([region == "north", region == "south"], [0.55, 0.4], 0.25)
texts = [" ".join([*rng.choice(GOOD if q else WEAK, 2), *rng.choice(GOOD + WEAK + FILLER, 8)]) for q in y]
tokens = np.array([[CODES[word] for word in text.split()] + [0] * (LENGTH - len(text.split())) for text in texts])

params = {"n_words": len(CODES) + 1}
model = TorchStrategicClassifier(BagOfWords, cost=0.75, module_params=params, lr=0.02, max_epochs=20, random_state=0)
model.fit({"tokens": tokens[:1800]}, y[:1800], sensitive_features=region[:1800])
result = model.audit({"tokens": tokens[1800:]}, y[1800:], region[1800:])
print(model.explain())
print(f"accuracy among applicants: {result.induced_accuracy:.1%}")
