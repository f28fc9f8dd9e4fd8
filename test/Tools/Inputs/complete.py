"""Prints bash's completions: complete.py TOOL WORD..., of which the last word is at the cursor."""
import subprocess
import sys

tool, words = sys.argv[1], " ".join(map(repr, sys.argv[1:]))
function = "_" + tool.replace("-", "_")
script = f"""source <({tool} --help=bash)
compopt() {{ :; }}  # it works only while a line is completed
COMP_WORDS=({words}); COMP_CWORD={len(sys.argv) - 2}
{function}
echo "${{COMPREPLY[@]}}" """
subprocess.run(["bash", "-c", script], check=True)
