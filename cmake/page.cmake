# The page (page/, TypeScript) becomes three files (the page, the Run view of a report, their style) and these become constants of weft-ui. esbuild comes from npm, into page/node_modules,
# by `tools/deps page`; a build fetches nothing. Without it the build says so (on stderr, which `make` shows), and there is a weft-ui that does.
# Run as a script (-P), this file writes the constants: -DFROM=FOLDER -DTO=FILE.c.
if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  set(text "/* Made by cmake/page.cmake. */\n#include \"ui/asset.h\"\n")
  set(rows "")
  foreach(row "page.html|text/html" "page.js|text/javascript" "page.css|text/css" "report.js|text/javascript")
    string(REGEX REPLACE "\\|.*" "" name "${row}")
    string(REGEX REPLACE ".*\\|" "" type "${row}")
    if(FROM AND EXISTS ${FROM}/${name})
      file(READ ${FROM}/${name} bytes HEX)
      string(LENGTH "${bytes}" n)
      math(EXPR n "${n} / 2")
      string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
      string(MAKE_C_IDENTIFIER ${name} symbol)
      string(APPEND text "static const unsigned char ${symbol}[] = {${bytes}};\n")
      string(APPEND rows "    {\"/${name}\", \"${type}; charset=utf-8\", ${symbol}, ${n}},\n")
    endif()
  endforeach()
  file(WRITE ${TO} "${text}const struct ui_asset ui_assets[] = {\n${rows}    {0, 0, 0, 0},\n};\n")
  return()
endif()

pkg_check_modules(MICROHTTPD IMPORTED_TARGET libmicrohttpd)
if(NOT MICROHTTPD_FOUND)
  message(NOTICE "weft is built without its page: libmicrohttpd is not there (`make deps` installs it)")
  return()
endif()
# Each file by itself: its tests have a main() of their own, and take no file that needs the bundled page.
room(ui EACH_FILE USES api LINKS PkgConfig::MICROHTTPD)
# The bundler is a program of its own, so that node is needed to fetch it and not to build; its wrapper in .bin is a script of node's.
set(WEFT_PAGE_PACKAGES ${CMAKE_SOURCE_DIR}/page/node_modules CACHE PATH "the page's npm packages")
file(GLOB esbuild ${WEFT_PAGE_PACKAGES}/@esbuild/*/bin/esbuild)
set(assets ${CMAKE_BINARY_DIR}/page/assets.c)
if(esbuild)
  list(GET esbuild 0 esbuild)
  file(GLOB_RECURSE page_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/page/src/*)
  add_custom_command(
    OUTPUT ${assets}
    COMMAND ${esbuild} ${CMAKE_SOURCE_DIR}/page/src/page.tsx ${CMAKE_SOURCE_DIR}/page/src/report.tsx ${CMAKE_SOURCE_DIR}/page/src/page.css --bundle --minify --target=es2022 --jsx=automatic --jsx-import-source=preact --log-level=warning --outdir=${CMAKE_BINARY_DIR}/page/dist
    COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_SOURCE_DIR}/page/src/page.html ${CMAKE_BINARY_DIR}/page/dist/page.html
    COMMAND ${CMAKE_COMMAND} -DFROM=${CMAKE_BINARY_DIR}/page/dist -DTO=${assets} -P ${CMAKE_CURRENT_LIST_FILE}
    DEPENDS ${page_sources} ${esbuild} ${CMAKE_CURRENT_LIST_FILE}
    COMMENT "Bundling the page"
    VERBATIM)
else()
  message(NOTICE "weft is built without its page: its npm packages are not there. Install node and npm, then `make deps` and `make`")
  add_custom_command(
    OUTPUT ${assets}
    COMMAND ${CMAKE_COMMAND} -DFROM= -DTO=${assets} -P ${CMAKE_CURRENT_LIST_FILE}
    DEPENDS ${CMAKE_CURRENT_LIST_FILE}
    VERBATIM)
endif()
