# The store's operations in C (src/store/module), which a redis-server that weft starts itself loads: weftstore.so, and a constant with
# its bytes, store_module, so that one program is all that must be copied to a cluster. It runs in a process that has no sanitizers.
file(GLOB module_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/store/module/*.c)
list(FILTER module_sources EXCLUDE REGEX "_test\\.c$")
add_library(weftstore MODULE ${module_sources})
set_target_properties(weftstore PROPERTIES PREFIX "")
target_include_directories(weftstore PRIVATE ${CMAKE_SOURCE_DIR}/src)
target_compile_options(weftstore PRIVATE -fno-sanitize=all)
target_link_options(weftstore PRIVATE -fno-sanitize=all -Wl,-s)
set(store_module ${CMAKE_BINARY_DIR}/embed/store/module.c)
add_custom_command(
  OUTPUT ${store_module}
  COMMAND ${CMAKE_COMMAND} -DFROM=$<TARGET_FILE:weftstore> -DTO=${store_module} -DNAME=store_module -P ${WEFT_EMBED}
  DEPENDS weftstore ${WEFT_EMBED}
  COMMENT "Embedding weftstore.so"
  VERBATIM)
