"""One HTML file that shows a memory: the graph, with a slider for each of the two times; no network, no server."""
