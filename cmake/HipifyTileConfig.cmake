# find_package(HipifyTile): tile_migrate_target(TARGET KERNELS FILE... [MODE migrated|kept] [FLAGS ...])
# compiles CUDA files with tile-migrate and links them, with the CUDA runtime for the CPU, into TARGET.
cmake_minimum_required(VERSION 3.20)

find_program(TILE_MIGRATE tile-migrate REQUIRED)

function(tile_migrate_target target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "MODE" "KERNELS;FLAGS;DEPENDS")
  if(NOT arg_KERNELS)
    message(FATAL_ERROR "tile_migrate_target(${target}): KERNELS names no file")
  endif()
  if(NOT arg_MODE)
    set(arg_MODE migrated)
  endif()
  set(files)
  foreach(file IN LISTS arg_KERNELS)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
    list(APPEND files ${file})
  endforeach()
  set(library ${CMAKE_CURRENT_BINARY_DIR}/${target}.tile-migrate.a)
  set(includes "$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>")
  set(macros "$<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>")
  add_custom_command(
    OUTPUT ${library}
    BYPRODUCTS ${library}.kernels.json
    COMMAND ${TILE_MIGRATE} build ${files} -o ${library} --mode ${arg_MODE} --dep-file ${library}.d
            -- ${arg_FLAGS} "$<$<BOOL:${includes}>:-I$<JOIN:${includes},;-I>>"
            "$<$<BOOL:${macros}>:-D$<JOIN:${macros},;-D>>"
    DEPENDS ${files} ${arg_DEPENDS}
    DEPFILE ${library}.d
    COMMAND_EXPAND_LISTS VERBATIM
    COMMENT "tile-migrate ${target}")
  add_custom_target(${target}_kernels DEPENDS ${library})
  add_dependencies(${target} ${target}_kernels)
  execute_process(COMMAND ${TILE_MIGRATE} build --print-runtime OUTPUT_VARIABLE runtime
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  target_link_libraries(${target} PRIVATE ${library} ${runtime}/libtm_cudart.so)
  set_property(TARGET ${target} APPEND PROPERTY BUILD_RPATH ${runtime})
endfunction()
