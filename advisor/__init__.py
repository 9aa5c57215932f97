"""Offload Advisor: how fast a language model runs on a machine, and whether a bigger GPU pays."""

__version__ = "0.1.0"
