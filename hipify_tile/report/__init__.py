"""Report model, JSON, SARIF, terminal and HTML."""
