import atexit
import os
import sys

atexit.register(print, "at the end")
print(__name__.strip("_"), os.path.basename(os.getcwd()), sys.argv[1:], os.path.basename(sys.argv[0]).removesuffix(".py"), flush=True)
sys.exit(3)
