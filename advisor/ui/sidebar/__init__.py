"""The form in the sidebar: every input, its widget and its place in the address."""
