"""The Hugging Face Hub: configurations and file headers, fetched and cached; start at `read`."""
