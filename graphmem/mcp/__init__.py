"""A memory as a server of the Model Context Protocol, over standard input and output or over HTTP on this machine.

`graphmem.mcp.stdio` and `graphmem.mcp.http` run it until the client leaves or the process is told to stop; the tools are
those of `graphmem.tools`. Needs the extra `mcp`.
"""
