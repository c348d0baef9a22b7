"""How a Markdown document is read: its lines, its front matter, its headings and its markers."""
