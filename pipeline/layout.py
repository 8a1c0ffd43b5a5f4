"""Where each stage keeps what it makes.

dvc.yaml spells the same places for DVC; tests/test_dvc_yaml.py holds the two together. Names come from the
settings and never from what lies on disk: results of deleted variants linger there.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pipeline.params import Params

MANIFEST = "manifest.json"
TOKENIZER = "tokenizer.json"
#: The stem of a file beside those that are called as entries: none of these may have this name.
CATALOGUE = "catalogue"
#: What the report leaves beside the times, as dvc.yaml has it.
REPORT = (
    *("results.jsonl", "facts.json", "metrics", "plots"),
    *("README.md", "index.html", "tables.html", "figures"),
)


@dataclass(frozen=True)
class Layout:
    """The files and folders of one experiment, below the folder that DVC runs in."""

    experiment: str
    base: Path = Path()

    @property
    def artifacts(self) -> Path:
        """Everything that DVC keeps and git does not."""
        return self.base / "artifacts" / self.experiment

    @property
    def report(self) -> Path:
        """What is committed: what `REPORT` names, and `times`."""
        return self.base / "reports" / self.experiment

    @property
    def results(self) -> Path:
        """Every figure of the report."""
        return self.report / REPORT[0]

    @property
    def times(self) -> Path:
        """What of the report differs from run to run: timings.jsonl, and its pages; no outputs of DVC's."""
        return self.report / "times"

    @property
    def reported(self) -> Path:
        """The SHA-256 of results.jsonl, once this repository's MLflow has its rows; never in git, as the report is."""
        return self.artifacts / "reported.json"

    @property
    def removed(self) -> Path:
        """Outputs that no entry makes any more, each at its old place below it: see :mod:`pipeline.removed_entries`."""
        return self.artifacts / "removed"

    def raw(self, corpus: str) -> Path:
        """The fetched source of a corpus and its manifest; :func:`pipeline.fetch.fetched_path` finds the source."""
        return self.artifacts / "raw" / corpus

    @property
    def punkt(self) -> Path:
        """A fetched Punkt model of the user's and its manifest: no output of DVC's, its sha256 is a setting."""
        return self.artifacts / "punkt"

    def segments(self, corpus: str) -> Path:
        """{train,valid,test}.jsonl of segmented documents and manifest.json."""
        return self.artifacts / "segments" / corpus

    def tokenizer(self, name: str) -> Path:
        """The folder of tokenizer.json and manifest.json."""
        return self.artifacts / "tokenizers" / name

    def encoded(self, corpus: str, tokenizer: str) -> Path:
        """{train,valid,test}.arrow, a manifest beside each, and manifest.json."""
        return self.artifacts / "encoded" / corpus / tokenizer

    @property
    def all_tasks(self) -> Path:
        """All evaluation sets, in a folder for each kind, and manifest.json, which says what they are."""
        return self.artifacts / "tasks"

    def tasks(self, kind: str) -> Path:
        """All sets of a kind."""
        return self.all_tasks / kind

    def task(self, kind: str, name: str) -> Path:
        """One fetched set: a file for each role, and manifest.json."""
        return self.tasks(kind) / name

    @property
    def all_nbest(self) -> Path:
        """All sets of N-best lists."""
        return self.artifacts / "nbest"

    def nbest(self, name: str) -> Path:
        """{dev,test}.jsonl and manifest.json of one set."""
        return self.all_nbest / name

    def translations(self, name: str) -> Path:
        """{dev,test}.json, N-best lists that a translator of ours made, and manifest.json."""
        return self.artifacts / "translations" / name

    def recognised(self, name: str) -> Path:
        """{dev,test}.json, N-best lists that a recogniser made, and manifest.json."""
        return self.artifacts / "recognised" / name

    def translator(self, name: str) -> Path:
        """The folder of a trained translator."""
        return self.artifacts / "translators" / name

    def catalogue(self, folder: Path) -> Path:
        """The names that belong in a folder of lists or sets: see stages/settings.py and stages/tasks.py."""
        return folder / f"{CATALOGUE}.json"

    @property
    def models(self) -> Path:
        """All trained models."""
        return self.artifacts / "models"

    def model(self, name: str, params: Params, seed: int) -> Path:
        """The folder that ``quartet.load`` opens: the first seed's is <name>, the others' <name>/seed-<n>."""
        folder = self.models / name
        return folder if seed == params.seeds[0] else folder / f"seed-{seed}"

    def pretrained(self, name: str) -> Path:
        """The folder of a model of Hugging Face, beside those of the trained models."""
        return self.models / name

    def ngram(self, name: str) -> Path:
        """The folder of an n-gram model, beside those of the trained models: see :mod:`quartet.ngram.card`."""
        return self.models / name

    def rows(self, stage: str, variant: str = "") -> Path:
        """The results of one stage instance."""
        folder = self.artifacts / "rows"
        return folder / stage / f"{variant}.jsonl" if variant else folder / f"{stage}.jsonl"

    def outcomes(self, stage: str, variant: str = "") -> Path:
        """What the systems of a stage instance made of each item: see :mod:`quartet.statistics.outcomes`."""
        folder = self.artifacts / "outcomes"
        return folder / stage / f"{variant}.jsonl" if variant else folder / f"{stage}.jsonl"

    def losses(self, model: str) -> Path:
        """The losses of one model by test document: see :mod:`quartet.tasks.perplexity.losses`."""
        return self.artifacts / "losses" / f"{model}.jsonl"

    def curve(self, model: str) -> Path:
        """The validation losses of one model while it trained."""
        return self.artifacts / "curves" / f"{model}.csv"

    def translator_curve(self, name: str) -> Path:
        """The validation losses of one translator while it trained."""
        return self.artifacts / "curves" / "translators" / f"{name}.csv"

    def wer_curve(self, model: str) -> Path:
        """Each set's metric against the interpolation weight, for one model on every set of lists."""
        return self.artifacts / "curves" / "wer" / f"{model}.csv"

    @property
    def all_rescored(self) -> Path:
        """Everything that models reranked."""
        return self.artifacts / "rescored"

    def rescored(self, model: str) -> Path:
        """The folder of all lists that a model reranked."""
        return self.all_rescored / model

    def systems(self, model: str) -> Path:
        """The systems that a model makes on lists, each with the seeds of its written results."""
        return self.rescored(model) / "systems.json"

    @property
    def combined(self) -> Path:
        """The folder of all lists that two models reranked together."""
        return self.artifacts / "combined"

    def reranked(self, folder: Path, seed: int, system: str, lists: str, split: str) -> Path:
        """The lists of one split of a set as one system ordered them, in `rescored` of its model or in `combined`."""
        return folder / f"{lists}.{split}.{system}.seed-{seed}.jsonl"

    def vectors(self, name: str) -> Path:
        """A fetched file of word vectors and its manifest; :func:`pipeline.fetch.fetched_path` finds it."""
        return self.artifacts / "vectors" / name

    def glue(self, model: str) -> Path:
        """Predictions of GLUE's test sets in its leaderboard's form, by seed, and what the search found."""
        return self.artifacts / "glue" / model

    def predictions(self, stage: str, model: str) -> Path:
        """What a fine-tuned model answered on a kind of questions."""
        return self.artifacts / "predictions" / stage / model

    @property
    def all_attention(self) -> Path:
        """The folder of all models' attention."""
        return self.artifacts / "attention"

    def attention(self, model: str) -> Path:
        """The attention of one model on one document."""
        return self.all_attention / f"{model}.safetensors"

    def timing(self, stage: str, variant: str = "") -> Path:
        """How long one stage instance took: no output of DVC's, for it differs from run to run."""
        folder = self.artifacts / "timings"
        return folder / stage / f"{variant}.jsonl" if variant else folder / f"{stage}.jsonl"

    @property
    def last_end(self) -> Path:
        """When the newest stage instance ended: no output of DVC's either."""
        return self.artifacts / "timings" / "last.json"

    @property
    def all_runtime_inputs(self) -> Path:
        """What is timed of all models."""
        return self.artifacts / "runtime-inputs"

    def runtime_inputs(self, model: str) -> Path:
        """The digests of the model's files and of the text, which the run-time study depends on."""
        return self.all_runtime_inputs / f"{model}.json"

    @property
    def timed(self) -> Path:
        """What the run-time study timed, the same bytes for the same models and settings."""
        return self.artifacts / "runtime.json"

    def run_times(self, content: str) -> Path:
        """The rows of the run-time study whose record (`timed`) has this sha256: no output of DVC's, as `timing`."""
        return self.artifacts / "timings" / "runtime" / f"{content}.jsonl"

    def resume(self, model: str, seed: int) -> Path:
        """Where an interrupted training keeps its resume points: no output of DVC's either."""
        return self.artifacts / "resume" / model / f"seed-{seed}"

    def kept_scores(self, model: str) -> Path:
        """What ``rerank@model`` keeps of its scores, beside the resume points: no model can have this folder's name."""
        return self.resume(f"rerank@{model}", 0).parent


def pairs(params: Params) -> dict[str, tuple[str, str]]:
    """The instances of ``encode`` as DVC's matrix names them: every corpus with every tokenizer."""
    return {f"{corpus}-{name}": (corpus, name) for corpus in params.corpora for name in params.tokenizers}


def catalogues(params: Params, layout: Layout) -> dict[Path, list[str]]:
    """Which names belong in each folder that stages read as a whole, by the file that says so; sets have their own."""
    names = {
        layout.all_nbest: params.nbest,
        layout.all_rescored: params.evaluate["rerank"],
        layout.all_attention: params.evaluate["attention"],
        layout.all_runtime_inputs: params.runtime.models,
    }
    return {layout.catalogue(folder): sorted(members) for folder, members in names.items()}
