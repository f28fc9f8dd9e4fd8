# Links a library of the wheel so that a glibc of 2.27 does. C++ is in it; how exceptions unwind comes from the system's
# libgcc_s, which is part of every one, since the static one asks a newer loader.
function(link_for_old_glibc target)
  target_link_options(${target} PRIVATE -static-libstdc++)
  if(CMAKE_SYSTEM_NAME STREQUAL Linux AND CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
    target_sources(${target} PRIVATE ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/src/OldGlibc.cpp)
    # Before 2.34 threads and dlopen are in libraries of their own, which are empty later.
    target_link_libraries(${target} PRIVATE
      -Wl,--push-state,--no-as-needed -l:libpthread.so.0 -l:libdl.so.2 -Wl,--pop-state)
  endif()
endfunction()
