"""llama.cpp and what is built on it: Ollama, LM Studio, ik_llama.cpp."""
