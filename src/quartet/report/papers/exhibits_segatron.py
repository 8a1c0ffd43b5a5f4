"""The tables and figures of results in the Segatron paper (Bai et al. 2021), in their order."""

from __future__ import annotations

from quartet.report.papers import segabert, segatron
from quartet.report.papers.exhibit import Exhibit
from quartet.report.papers.series import Contrast

SEGATRON: tuple[Exhibit, ...] = (
    Exhibit(
        paper="segatron",
        place="Table 1",
        title="perplexity on WikiText-103",
        finds="Sentence and paragraph positions lower the perplexity of Transformer-XL. The paper's released code lets "
        "its sentence and paragraph offsets see later boundaries; models whose names say released do so too.",
        tables=("segatron-wikitext103",),
        presets=("sample", "small", "paper-segatron-xl-base", "paper-segatron-xl-large"),
        keys=("models", "perplexity"),
        ours=segatron.wikitext,
        contrasts=(
            Contrast(
                first="segatron-xl",
                second="transformer-xl",
                kind="relative",
                headline="Segment positions lower Transformer-XL's perplexity",
            ),
            Contrast(first="segatron-xl-released", second="transformer-xl", kind="relative"),
            Contrast(first="segatron-xl-released", second="segatron-xl", kind="relative"),
        ),
        section="Perplexity",
    ),
    Exhibit(
        paper="segatron",
        place="Table 2",
        title="which positions lower the perplexity",
        finds="Sentence positions do nearly all of it, paragraph positions a little.",
        tables=("segatron-position-ablation",),
        presets=("sample", "small", "paper-segatron-xl-base"),
        keys=("models", "perplexity"),
        ours=segatron.positions,
        contrasts=(
            Contrast(first="token-sentence-paragraph", second="token", kind="relative"),
            Contrast(first="token-sentence", second="token", kind="relative"),
            Contrast(first="token-paragraph", second="token", kind="relative"),
            Contrast(
                first="token-sentence",
                second="token-paragraph",
                kind="relative",
                headline="Sentence positions do more than paragraph positions",
            ),
        ),
        section="Perplexity",
    ),
    Exhibit(
        paper="segatron",
        place="Figure 2",
        title="validation perplexity while training",
        finds="Segatron-XL is below Transformer-XL throughout, and has after 10,000 steps about what the other has "
        "after 20,000. The paper prints a picture and no numbers.",
        presets=("sample", "small", "paper-segatron-xl-base"),
        keys=("models",),
        ours=segatron.causal_losses,
        contrasts=(Contrast(first="segatron-xl", second="transformer-xl", claimed=-1),),
        section="Training",
    ),
    Exhibit(
        paper="segatron",
        place="Figure 3",
        title="perplexity against input length",
        finds="Segatron-XL is below Transformer-XL at inputs of 25, 50, 100 and 150 tokens. The paper prints a picture "
        "and no numbers.",
        presets=("sample", "paper-segatron-xl-base"),
        keys=("models", "perplexity.input_lengths"),
        ours=segatron.input_lengths,
        contrasts=(
            Contrast(
                first="segatron-xl",
                second="transformer-xl",
                kind="relative",
                claimed=-1,
                headline="Segment positions lower perplexity at every input length",
            ),
        ),
        section="Perplexity",
    ),
    Exhibit(
        paper="segatron",
        place="Figure 4",
        title="validation loss while pre-training",
        finds="SegaBERT is below BERT throughout. The paper prints a picture and no numbers.",
        presets=("sample", "small", "paper-segabert-base"),
        keys=("models",),
        ours=segatron.masked_losses,
        contrasts=(
            Contrast(
                first="segabert",
                second="bert-",
                claimed=-1,
                headline="Segment positions lower BERT's validation loss",
            ),
        ),
        section="Training",
    ),
    Exhibit(
        paper="segatron",
        place="Table 3",
        title="GLUE, development sets",
        finds="SegaBERT is above BERT on most sets and on average.",
        tables=("segatron-glue-dev",),
        presets=("small",),
        keys=("tasks", "evaluate.glue"),
        ours=segabert.glue_dev,
        contrasts=(
            Contrast(
                first="segabert", second="bert-", headline="SegaBERT is above BERT on GLUE's development sets"
            ),
        ),
        section="GLUE",
    ),
    Exhibit(
        paper="segatron",
        place="Table 4",
        title="GLUE, test sets",
        finds="SegaBERT is above BERT on every set. The answers are secret: the stage writes them in the leaderboard's "
        "form, and figures are here only for sets whose answers are known.",
        tables=("segatron-glue-test",),
        presets=("small",),
        keys=("tasks", "evaluate.glue"),
        ours=segabert.glue_test,
        contrasts=(Contrast(first="segabert", second="bert-"),),
        section="GLUE",
    ),
    Exhibit(
        paper="segatron",
        place="Table 5",
        title="similarity after tuning on entailment",
        finds="Tuned on SNLI and MultiNLI, SegaBERT's vectors agree a little better with human scores than BERT's.",
        tables=("segatron-sts",),
        presets=("small",),
        keys=("tasks", "evaluate.nli"),
        ours=segabert.siamese,
        contrasts=(
            Contrast(
                first="segabert",
                second="bert-",
                headline="Tuned on entailment, SegaBERT's vectors are closer to human scores than BERT's",
            ),
        ),
        section="Natural language inference (NLI)",
    ),
    Exhibit(
        paper="segatron",
        place="Table 6",
        title="questions on paragraphs, SQuAD",
        finds="SegaBERT finds more answers than BERT, of both versions.",
        tables=("segatron-squad",),
        presets=("small",),
        keys=("tasks", "evaluate.squad"),
        ours=segabert.questions,
        contrasts=(
            Contrast(first="segabert", second="bert-", headline="SegaBERT answers SQuAD better than BERT"),
        ),
        section="Questions (SQuAD)",
    ),
    Exhibit(
        paper="segatron",
        place="Table 7",
        title="multiple choice on passages, RACE",
        finds="SegaBERT's large model is above BERT's.",
        tables=("segatron-race",),
        presets=("small",),
        keys=("tasks", "evaluate.race"),
        ours=segabert.choices,
        contrasts=(
            Contrast(first="segabert", second="bert-", headline="SegaBERT answers RACE better than BERT"),
        ),
        section="Multiple choice (RACE)",
    ),
    Exhibit(
        paper="segatron",
        place="Figures 5 to 8",
        title="where attention goes in one article",
        finds="SegaBERT's lower layers look at the own paragraph and sentence, BERT's at the neighbouring tokens. The "
        "paper prints maps of layers 1, 3, 6, 9, 11 and 12, and no numbers.",
        presets=("sample", "small", "paper-segabert-base"),
        keys=("attention", "evaluate.attention"),
        ours=segabert.looks,
        contrasts=(Contrast(first="segabert", second="bert-", claimed=1),),
        section="Where attention goes",
    ),
)
