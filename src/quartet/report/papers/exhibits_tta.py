"""The tables and figures of results in the T-TA paper (Shin et al. 2020), in their order."""

from __future__ import annotations

from quartet.report.papers import tta
from quartet.report.papers.exhibit import Exhibit
from quartet.report.papers.series import Contrast

TTA: tuple[Exhibit, ...] = (
    Exhibit(
        paper="tta",
        place="Table 1",
        title="word error rates after reranking, LibriSpeech",
        finds="Reranking with T-TA lowers the recogniser's errors, as much as with the masked biLM and more than with "
        "the left-to-right uniLM; a masked model that reads its input without masks helps little.",
        tables=("tta-wer-own", "tta-wer-shin2019", "tta-wer-weight"),
        without=("oracle",),
        presets=("sample", "small", "paper-tta-librispeech"),
        keys=("nbest", "evaluate.rerank"),
        ours=tta.wers,
        contrasts=(
            Contrast(
                first="tta", second="first-pass", headline="T-TA lowers the word error rate of a recogniser"
            ),
            Contrast(
                first="tta",
                second="bilm",
                claimed=0,
                headline="T-TA's word error rate is near the masked biLM's",
            ),
            Contrast(first="tta", second="unilm"),
            Contrast(first="bilm-intact", second="bilm"),
        ),
        section="Reranking",
    ),
    Exhibit(
        paper="tta",
        place="Table 2",
        title="BLEU after reranking, WMT13",
        finds="Reranking raises BLEU by about one point, with each language model; the paper chose each weight on the "
        "test set itself, ours is chosen on dev.",
        tables=("tta-bleu", "tta-bleu-weight"),
        without=("oracle",),
        presets=("small", "paper-nmt"),
        keys=("translators", "nbest", "evaluate.rerank"),
        ours=tta.bleus,
        contrasts=(
            Contrast(first="tta", second="first-pass", headline="T-TA raises the BLEU of N-best lists"),
            Contrast(first="tta", second="bilm"),
            Contrast(first="tta", second="unilm"),
        ),
        section="Reranking",
    ),
    Exhibit(
        paper="tta",
        place="Table 3",
        title="similarity without training for it, STS Benchmark",
        finds="The mean of T-TA's final layer agrees best with human scores among the Transformers, BERT included; of "
        "embedding layers uniLM's does best.",
        tables=("tta-stsb",),
        presets=("sample", "small", "paper-tta-wiki"),
        keys=("tasks", "evaluate.sts"),
        ours=tta.stsb,
        contrasts=(
            Contrast(
                first="tta/context",
                second="bilm/context",
                headline="T-TA's sentence vectors are closer to human similarity scores than biLM's",
            ),
            Contrast(first="tta/context", second="unilm/context"),
            Contrast(first="tta/context", second="word2vec"),
            Contrast(first="unilm/embed", second="tta/embed"),
        ),
        section="Semantic similarity (STS)",
    ),
    Exhibit(
        paper="tta",
        place="Table 4",
        title="similarity without training for it, SICK",
        finds="As on the STS Benchmark.",
        tables=("tta-sick",),
        presets=("small", "paper-tta-wiki"),
        keys=("tasks", "evaluate.sts"),
        ours=tta.sick,
        contrasts=(
            Contrast(first="tta/context", second="bilm/context"),
            Contrast(first="tta/context", second="unilm/context"),
            Contrast(first="unilm/embed", second="tta/embed"),
        ),
        section="Semantic similarity (STS)",
    ),
    Exhibit(
        paper="tta",
        place="Table 5",
        title="oracle word error rates of the N-best lists",
        finds="The best hypothesis of each list has about half the first pass's errors: the room for reranking.",
        tables=("tta-wer-own", "tta-wer-shin2019"),
        rows=("first-pass", "oracle"),
        presets=("sample", "small", "paper-tta-librispeech"),
        keys=("nbest", "evaluate.rerank"),
        ours=tta.wers,
        contrasts=(Contrast(first="oracle", second="first-pass", kind="relative"),),
        section="Reranking",
    ),
    Exhibit(
        paper="tta",
        place="Table 6",
        title="oracle BLEU of the N-best lists",
        finds="The best translation of each list is about ten points above the first pass.",
        tables=("tta-bleu",),
        rows=("first-pass", "oracle"),
        presets=("paper-nmt",),
        keys=("translators", "nbest", "evaluate.rerank"),
        ours=tta.bleus,
        contrasts=(Contrast(first="oracle", second="first-pass"),),
        section="Reranking",
    ),
    Exhibit(
        paper="tta",
        place="Table 7",
        title="perplexity of LibriSpeech's references",
        finds="The median pseudo-perplexity of T-TA is near biLM's, as its word error rate is; the means are not. "
        "Perplexity (uniLM) and pseudo-perplexity are two measures, and each run has tokens of its own.",
        tables=("tta-perplexity-dev-clean", "tta-perplexity-test-clean"),
        presets=("sample", "small", "paper-tta-librispeech"),
        keys=("nbest", "evaluate.rerank"),
        ours=tta.perplexities,
        contrasts=(
            Contrast(
                first="tta",
                second="bilm",
                kind="relative",
                claimed=0,
                headline="T-TA's pseudo-perplexity is near the masked biLM's",
            ),
        ),
        section="Perplexity of references",
    ),
    Exhibit(
        paper="tta",
        place="Figure 4",
        title="running time against words, CPU",
        finds="At 20 words T-TA is 12.7 times as fast as the masked biLM for sentence vectors and 6.35 times for "
        "scores, and the longer the sentence the more. Whether biLM's masked copies were one batch the paper does not "
        "say: here are both.",
        tables=("tta-runtime-cpu",),
        presets=("sample", "small", "paper-tta-wiki"),
        keys=("runtime.models", "runtime.words"),
        ours=tta.times_on_cpu,
        contrasts=(
            Contrast(
                first="bilm",
                second="tta",
                kind="ratio",
                headline="T-TA is many times as fast as the masked biLM (one batch, optimised) at 20 words",
            ),
            Contrast(first="bilm-one-by-one", second="tta", kind="ratio"),
        ),
        section="Run-time",
    ),
    Exhibit(
        paper="tta",
        place="Figure 5",
        title="running time against words, uniLM and T-TA",
        finds="T-TA takes about as long as the left-to-right model. The paper prints a picture and no numbers.",
        presets=("sample", "small", "paper-tta-wiki"),
        keys=("runtime.models", "runtime.words"),
        ours=tta.times_one_way,
        contrasts=(Contrast(first="tta", second="unilm", kind="ratio", claimed=0),),
        section="Run-time",
    ),
    Exhibit(
        paper="tta",
        place="Figure 6",
        title="running time against words, GPU",
        finds="On a GPU the ratio at 20 words is smaller, 1.88 for sentence vectors, and grows with the words.",
        tables=("tta-runtime-gpu",),
        presets=("small", "paper-tta-wiki"),
        keys=("device", "runtime.models", "runtime.words"),
        ours=tta.times_on_gpu,
        contrasts=(
            Contrast(first="bilm", second="tta", kind="ratio"),
            Contrast(first="bilm-one-by-one", second="tta", kind="ratio"),
        ),
        section="Run-time",
    ),
)
