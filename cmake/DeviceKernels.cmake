# Kernels of GPUs, in C++: clang compiles kernels/cuda to one file of LLVM bitcode, which the library embeds. It takes no
# CUDA toolkit. Loops are unrolled where the compiler links a kernel, when the numbers of its launch are known. What each
# link would do again is done here: each kernel is one function, whose variables are no memory.
set(version ${LLVM_VERSION_MAJOR})
find_program(DEVICE_CLANG NAMES clang++-${version} clang++ HINTS ${LLVM_TOOLS_BINARY_DIR} REQUIRED)
find_program(DEVICE_LINK NAMES llvm-link-${version} llvm-link HINTS ${LLVM_TOOLS_BINARY_DIR} REQUIRED)
find_program(DEVICE_OPT NAMES opt-${version} opt HINTS ${LLVM_TOOLS_BINARY_DIR} REQUIRED)
execute_process(COMMAND ${DEVICE_CLANG} -dumpversion OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT found MATCHES "^${version}\\.")
  message(FATAL_ERROR "${DEVICE_CLANG} is clang ${found}, but kernels/cuda needs clang ${version}, whose bitcode this "
    "LLVM reads: install clang-${version}, or set DEVICE_CLANG")
endif()

# reprise_device_kernels(VARIABLE): sets the variable to the path of the bitcode.
function(reprise_device_kernels variable)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/kernels/cuda/*.cpp)
  # The oldest chip that the compiler knows; kernels run on any later one.
  set(flags --target=nvptx64-nvidia-cuda -march=sm_80 -Xclang -target-feature -Xclang +ptx70 -std=c++20 -O2
    -Xclang -disable-llvm-passes -Xclang -fconvergent-functions -ffreestanding -nogpulib -ffp-contract=off
    -fno-exceptions -fno-rtti -fno-strict-aliasing -Wall -Wextra -Werror)
  set(passes "function(sroa,early-cse,simplifycfg),cgscc(inline),globaldce,"
    "function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg)")
  string(CONCAT passes ${passes})
  set(folder ${CMAKE_BINARY_DIR}/kernels)
  file(MAKE_DIRECTORY ${folder})
  set(parts)
  foreach(source ${sources})
    get_filename_component(name ${source} NAME_WE)
    set(part ${folder}/${name}.bc)
    add_custom_command(OUTPUT ${part}
      COMMAND ${DEVICE_CLANG} ${flags} -MD -MF ${part}.d -emit-llvm -c ${source} -o ${part}
      DEPENDS ${source} DEPFILE ${part}.d COMMENT "Compiling kernels/cuda/${name}.cpp" VERBATIM)
    list(APPEND parts ${part})
  endforeach()
  set(all ${folder}/all.bc)
  add_custom_command(OUTPUT ${all}
    COMMAND ${DEVICE_LINK} ${parts} -o ${all}.parts
    COMMAND ${DEVICE_OPT} ${all}.parts -o ${all} -inline-threshold=100000 -passes=${passes}
    DEPENDS ${parts} COMMENT "Linking kernels/cuda" VERBATIM)
  set(${variable} ${all} PARENT_SCOPE)
endfunction()
