"""Trained models in forms for people who only score: an ONNX graph, in int8 too, or weights in half precision.

`graph` says what an exported model computes, in the operations of `arithmetic` (single precision, or integers for
matrices), which `nodes` collects; `writing` makes the whole folder, whose `card` says what it holds, and `folder`
opens it again; `scorer` runs a graph on what `inputs` lays out; `parity` compares an export with
the model that it was made from.
"""
