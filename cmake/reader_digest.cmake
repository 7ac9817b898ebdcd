# One constant, `extern const char reader_digest[]`: a digest of the sources that decide how a text becomes a workflow. What was read by
# another reader (an image in .weft) is then known to be another's, and nobody has to remember to raise a number.
# Run as a script (-P): -DROOT=the checkout -DTO=FILE.c.
if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  file(GLOB_RECURSE sources RELATIVE ${ROOT} ${ROOT}/src/base/*.[ch] ${ROOT}/src/model/*.[ch] ${ROOT}/src/formats/*.[ch])
  list(FILTER sources EXCLUDE REGEX "_test\\.c$|/testing\\.h$")
  list(SORT sources)
  set(all "")
  foreach(source IN LISTS sources)
    file(SHA256 ${ROOT}/${source} one)
    string(APPEND all "${source} ${one}\n")
  endforeach()
  string(SHA256 digest "${all}")
  file(WRITE ${TO} "/* Made by cmake/reader_digest.cmake. */\nextern const char reader_digest[];\nconst char reader_digest[] = \"${digest}\";\n")
  return()
endif()

file(GLOB_RECURSE reader_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/base/*.[ch] ${CMAKE_SOURCE_DIR}/src/model/*.[ch] ${CMAKE_SOURCE_DIR}/src/formats/*.[ch])
list(FILTER reader_sources EXCLUDE REGEX "_test\\.c$|/testing\\.h$")
add_custom_command(
  OUTPUT ${CMAKE_BINARY_DIR}/reader_digest.c
  COMMAND ${CMAKE_COMMAND} -DROOT=${CMAKE_SOURCE_DIR} -DTO=${CMAKE_BINARY_DIR}/reader_digest.c -P ${CMAKE_CURRENT_LIST_FILE}
  DEPENDS ${reader_sources} ${CMAKE_CURRENT_LIST_FILE}
  COMMENT "Digest of the readers"
  VERBATIM)
target_sources(room_formats PRIVATE ${CMAKE_BINARY_DIR}/reader_digest.c)
