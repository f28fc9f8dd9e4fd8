import os
import sys

import lit.formats

config.name = "Reprise"
config.test_format = lit.formats.ShTest(False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["unit", "data", "Inputs", "CMakeLists.txt", "Consumer"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.reprise_obj_root, "test")
config.environment["FILECHECK_OPTS"] = "-enable-var-scope --allow-unused-prefixes=false"
# See utils/run-tests.py.
config.environment["ASAN_OPTIONS"] = "allow_user_poisoning=0"
config.environment["PATH"] = os.pathsep.join([config.reprise_tools_dir, config.llvm_tools_dir, os.environ["PATH"]])
config.substitutions.append(("%python", sys.executable))
config.substitutions.append(("%src", config.reprise_src_root))
config.substitutions.append(("%expect", sys.executable + " " + os.path.join(config.test_source_root, "Tools", "Inputs", "expect-code.py")))
for tool in os.listdir(config.reprise_tools_dir) if os.path.isdir(config.reprise_tools_dir) else []:
    config.available_features.add(tool)
