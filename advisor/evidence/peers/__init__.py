"""Formulas of public advisors, one file each, with version and date.

They get the same facts as our own model, so that both are scored on the same rows. Each formula is
rewritten from its source; the constants are its authors'.
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
"""Public advisors, in the order of the tables."""

__all__ = ["PEERS", "Facts", "Peer", "Where"]
