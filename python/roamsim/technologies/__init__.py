"""Access technologies and mobility: what each draws and reports of its own."""
