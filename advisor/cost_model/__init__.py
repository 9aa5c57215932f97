"""Cost model: from a placed model to seconds, tokens per second and their 80 % range."""
