"""llama.cpp and programs built on it: Ollama, LM Studio, ik_llama.cpp."""
