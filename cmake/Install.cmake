# The install tree: four libraries, their headers, the tools, and a package for find_package(Reprise).
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Reprise)

# The names without prefix become Reprise::Reprise, Reprise::Runtime and Reprise::Planning.
set_target_properties(RepriseRuntime PROPERTIES EXPORT_NAME Runtime)
set_target_properties(ReprisePlanning PROPERTIES EXPORT_NAME Planning)
foreach(library Reprise RepriseRuntime ReprisePlanning RepriseC)
  set_target_properties(${library} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
  target_include_directories(${library} PUBLIC $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${library} PUBLIC cxx_std_17)
endforeach()

# Two exports: who only runs bundles, or only plans, needs no LLVM.
install(TARGETS RepriseRuntime ReprisePlanning EXPORT RepriseRuntimeTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET RepriseMpi)
  install(TARGETS RepriseMpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(TARGETS Reprise EXPORT RepriseTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
# No export: whoever embeds the compiler by its C API needs no package of LLVM (RepriseConfig.cmake.in).
install(TARGETS RepriseC LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
configure_file(${CMAKE_CURRENT_LIST_DIR}/reprise.pc.in ${CMAKE_BINARY_DIR}/reprise.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/reprise.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
get_property(tools GLOBAL PROPERTY REPRISE_TOOLS)
install(TARGETS ${tools} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})

install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "*.td")
install(DIRECTORY ${CMAKE_BINARY_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.inc" PATTERN "CMakeFiles" EXCLUDE)
# Man pages and completions come from the tools' tables of options; pages, schemas and examples from the tree.
install(DIRECTORY ${CMAKE_BINARY_DIR}/share/man/ DESTINATION ${CMAKE_INSTALL_MANDIR})
install(DIRECTORY ${CMAKE_BINARY_DIR}/share/bash-completion DESTINATION ${CMAKE_INSTALL_DATADIR})
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE ${CMAKE_SOURCE_DIR}/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs ${CMAKE_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR}
  PATTERN CMakeLists.txt EXCLUDE)

foreach(export RepriseRuntimeTargets RepriseTargets)
  install(EXPORT ${export} NAMESPACE Reprise:: DESTINATION ${package_folder})
endforeach()
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/RepriseConfig.cmake.in
  ${CMAKE_BINARY_DIR}/RepriseConfig.cmake INSTALL_DESTINATION ${package_folder}
  PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/RepriseConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/RepriseConfig.cmake ${CMAKE_BINARY_DIR}/RepriseConfigVersion.cmake
  DESTINATION ${package_folder})
