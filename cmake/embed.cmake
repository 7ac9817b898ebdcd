# Scripts that C code carries (Lua for Redis, shell for other machines) stand in files of their own beside the code that sends them, where
# their tools can check them (tools/lint), and become constants of the room at build. src/store/redis/apply.lua is, in C:
#     extern const char store_redis_apply_lua[];        the file's path in src, each other character an underscore; ends with a NUL
# Declare it in the file that sends the script: there is no header, so that a source can be checked without a build before it.
# Run as a script (-P), this file writes one constant: -DFROM=FILE -DTO=FILE.c -DNAME=symbol; with it NAME_size, for what has NULs.
if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  file(READ ${FROM} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" bytes "${bytes}")
  string(REGEX REPLACE "(................................................................)" "\\1\"\n    \"" bytes "${bytes}") # 16 a line
  file(WRITE ${TO} "/* Made from ${FROM} by cmake/embed.cmake. */\nextern const char ${NAME}[];\nconst char ${NAME}[] =\n    \"${bytes}\";\nextern const unsigned long ${NAME}_size;\nconst unsigned long ${NAME}_size = sizeof ${NAME} - 1;\n")
  return()
endif()

# embed(OUT room) sets OUT to the C files with the constants of all src/ROOM/**/*.lua and *.sh, and the rules that make them.
set(WEFT_EMBED ${CMAKE_CURRENT_LIST_FILE})
function(embed out room)
  file(GLOB_RECURSE scripts CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${room}/*.lua ${CMAKE_SOURCE_DIR}/src/${room}/*.sh)
  list(FILTER scripts EXCLUDE REGEX "_test\\.sh$")
  set(made)
  foreach(script IN LISTS scripts)
    file(RELATIVE_PATH path ${CMAKE_SOURCE_DIR}/src ${script})
    string(MAKE_C_IDENTIFIER ${path} symbol)
    set(target ${CMAKE_BINARY_DIR}/embed/${path}.c)
    add_custom_command(
      OUTPUT ${target}
      COMMAND ${CMAKE_COMMAND} -DFROM=${script} -DTO=${target} -DNAME=${symbol} -P ${WEFT_EMBED}
      DEPENDS ${script} ${WEFT_EMBED}
      COMMENT "Embedding src/${path}"
      VERBATIM)
    list(APPEND made ${target})
  endforeach()
  set(${out} ${made} PARENT_SCOPE)
endfunction()
