# Program, library, header, pkg-config file, man pages, completion. What was not built is not installed.
include(GNUInstallDirs)
install(TARGETS weft RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} OPTIONAL)
if(TARGET weft-ui)
  install(TARGETS weft-ui RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/weft OPTIONAL)
endif()
install(TARGETS libweft LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} OPTIONAL)
install(FILES ${CMAKE_BINARY_DIR}/libweft.a DESTINATION ${CMAKE_INSTALL_LIBDIR} OPTIONAL)
install(DIRECTORY include/weft DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

file(RELATIVE_PATH WEFT_PC_UP /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/weft.pc.in weft.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/weft.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# weft.1 and weft.3 are written by hand; the page of each command is made from what its --help prints, that of each public header
# from the header.
file(GLOB manpages CONFIGURE_DEPENDS docs/man/*.1 docs/man/*.3)
foreach(page IN LISTS manpages)
  get_filename_component(section ${page} LAST_EXT)
  string(SUBSTRING ${section} 1 1 section)
  install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
endforeach()
add_custom_command(
  OUTPUT ${CMAKE_BINARY_DIR}/man/stamp
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${CMAKE_BINARY_DIR}/man
  COMMAND bash ${CMAKE_SOURCE_DIR}/tools/make-man $<TARGET_FILE:weft> ${CMAKE_BINARY_DIR}/man
  COMMAND ${CMAKE_COMMAND} -E touch ${CMAKE_BINARY_DIR}/man/stamp
  DEPENDS weft ${CMAKE_SOURCE_DIR}/tools/make-man
  COMMENT "Man pages of the commands"
  VERBATIM)
file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/include/weft/*.h)
add_custom_command(
  OUTPUT ${CMAKE_BINARY_DIR}/man3/stamp
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${CMAKE_BINARY_DIR}/man3
  COMMAND bash ${CMAKE_SOURCE_DIR}/tools/make-man3 ${CMAKE_BINARY_DIR}/man3 ${PROJECT_VERSION} ${headers}
  COMMAND ${CMAKE_COMMAND} -E touch ${CMAKE_BINARY_DIR}/man3/stamp
  DEPENDS ${headers} ${CMAKE_SOURCE_DIR}/tools/make-man3
  COMMENT "Man pages of the headers"
  VERBATIM)
add_custom_target(manpages ALL DEPENDS ${CMAKE_BINARY_DIR}/man/stamp ${CMAKE_BINARY_DIR}/man3/stamp)
install(DIRECTORY ${CMAKE_BINARY_DIR}/man3/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man3 OPTIONAL FILES_MATCHING PATTERN "*.3")
install(DIRECTORY ${CMAKE_BINARY_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 OPTIONAL FILES_MATCHING PATTERN "*.1")

install(FILES tools/completion.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME weft)

# The library of tasks (docs/tasks.md); a build finds it beside its programs, as an installation does in share.
install(DIRECTORY tasks DESTINATION ${CMAKE_INSTALL_DATADIR}/weft FILES_MATCHING PATTERN "*.yaml")
file(CREATE_LINK ${CMAKE_SOURCE_DIR}/tasks ${CMAKE_BINARY_DIR}/tasks SYMBOLIC)
