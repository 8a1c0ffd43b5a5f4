"""What ``mlflow.pyfunc.load_model`` opens a trained model with: texts in, their (pseudo-)log-likelihoods out.

MLflow finds the function below by its name in the file MLmodel; this module needs nothing of MLflow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from quartet.arguments import checked_texts
from quartet.errors import InputError
from quartet.scoring.language_model import LanguageModel, load
from quartet.scoring.unknown import unknown_in

if TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import-untyped]


class PyfuncModel:
    """A trained model as MLflow calls it."""

    def __init__(self, model: LanguageModel) -> None:
        self.model = model

    def predict(self, texts: DataFrame | Sequence[str], params: object = None) -> DataFrame:
        """One row a text: its score in nats, and how many values it is the sum of.

        The score is a pseudo-log-likelihood for MLM and LAE and a log-likelihood, closing token included, for CLM:
        see :meth:`quartet.scoring.language_model.LanguageModel.score`.

        Args:
            texts: a list, or a table whose first column they are.

        Raises:
            InputError: there is one string, a table without a column, or a cell that holds no text.
        """
        from pandas import DataFrame

        if isinstance(texts, DataFrame) and not len(texts.columns):
            raise InputError("texts", "a table without a column", "give one column of texts")
        column = texts.iloc[:, 0] if isinstance(texts, DataFrame) else texts
        texts_read = checked_texts(column)
        found = unknown_in(self.model, texts_read, "spread").applied(self.model.token_logprobs(texts_read))
        rows = {
            "score": [float(values.sum()) for values in found],
            "tokens": [len(values) for values in found],
        }
        return DataFrame(rows, index=texts.index if isinstance(texts, DataFrame) else None)


def _load_pyfunc(folder: str) -> PyfuncModel:
    return PyfuncModel(load(folder))
