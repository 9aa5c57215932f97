"""Formulas of public advisors, restated as facts: one file each, with what was read and when.

They are asked with the same facts as our own model, so that both can be scored on the same rows.
Each is written anew from its source; constants are its authors'.
"""

from advisor.evidence.peers.bandwidth import BANDWIDTH
from advisor.evidence.peers.canirun import CANIRUN
from advisor.evidence.peers.gguf_parser import GGUF_PARSER
from advisor.evidence.peers.gpu_poor import GPU_POOR
from advisor.evidence.peers.llm_viewer import LLM_VIEWER
from advisor.evidence.peers.llmcalc import LLMCALC
from advisor.evidence.peers.llmfit import LLMFIT
from advisor.evidence.peers.moe_speed import MOE_SPEED
from advisor.evidence.peers.peer import Facts, Peer, Where
from advisor.evidence.peers.whichllm import WHICHLLM

PEERS = (
    BANDWIDTH, LLMFIT, WHICHLLM, CANIRUN, MOE_SPEED, GPU_POOR, GGUF_PARSER, LLMCALC, LLM_VIEWER,
)  # fmt: skip
"""In the order tables show them."""

__all__ = ["PEERS", "Facts", "Peer", "Where"]
