# find_package(HipifyTile): the CUDA runtime for the CPU, and targets whose kernels tile-migrate compiles.
#
#   HipifyTile::cudart    libtm_cudart with the CUDA headers, for host code
#   tile_migrate_target(TARGET KERNELS FILE... [MODE migrated|kept] [FLAGS ...] [OPTIONS ...])
#
# TARGET is an executable, a static or a shared library of this folder. FILEs, also where TARGET lists
# them as sources, are compiled by tile-migrate build and no longer by CUDA's compiler. FLAGS go to
# g++, OPTIONS to tile-migrate build (--only, --keep, --config). The target's include folders, macros
# and C++ standard are used. A changed header that a FILE includes makes it build again.
cmake_minimum_required(VERSION 3.20)

get_filename_component(_HipifyTile_package "${CMAKE_CURRENT_LIST_DIR}" REALPATH)
get_filename_component(_HipifyTile_package "${_HipifyTile_package}" DIRECTORY)
find_program(TILE_MIGRATE tile-migrate HINTS "${_HipifyTile_package}/../../../../bin"
             DOC "The command tile-migrate")

if(TILE_MIGRATE AND NOT TARGET HipifyTile::cudart)
  execute_process(COMMAND "${TILE_MIGRATE}" build --print-runtime
                  OUTPUT_VARIABLE HipifyTile_RUNTIME_DIR ERROR_VARIABLE _HipifyTile_error
                  RESULT_VARIABLE _HipifyTile_status OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(_HipifyTile_status EQUAL 0)
    add_library(HipifyTile::cudart SHARED IMPORTED GLOBAL)
    set_target_properties(HipifyTile::cudart PROPERTIES
      IMPORTED_LOCATION "${HipifyTile_RUNTIME_DIR}/libtm_cudart.so"
      IMPORTED_NO_SONAME TRUE
      INTERFACE_INCLUDE_DIRECTORIES "${_HipifyTile_package}/compat/include"
      INTERFACE_COMPILE_DEFINITIONS TM_HOST_UNIT)
  else()
    set(HipifyTile_NOT_FOUND_MESSAGE "${_HipifyTile_error}")
  endif()
endif()
if(NOT TARGET HipifyTile::cudart)
  set(HipifyTile_FOUND FALSE)
  if(NOT TILE_MIGRATE)
    set(HipifyTile_NOT_FOUND_MESSAGE "tile-migrate was not found: set TILE_MIGRATE to it")
  endif()
  return()
endif()

function(tile_migrate_target target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "MODE" "KERNELS;FLAGS;OPTIONS;DEPENDS")
  if(NOT TARGET ${target})
    message(FATAL_ERROR "tile_migrate_target(${target}): there is no such target")
  endif()
  get_target_property(folder ${target} SOURCE_DIR)
  if(NOT folder STREQUAL CMAKE_CURRENT_SOURCE_DIR)
    message(FATAL_ERROR "tile_migrate_target(${target}) has to stand in the target's own folder, ${folder}")
  endif()
  if(NOT arg_KERNELS)
    message(FATAL_ERROR "tile_migrate_target(${target}): KERNELS names no file")
  endif()
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "tile_migrate_target(${target}): ${arg_UNPARSED_ARGUMENTS} is not understood")
  endif()
  if(NOT arg_MODE)
    set(arg_MODE migrated)
  elseif(NOT arg_MODE MATCHES "^(migrated|kept)$")
    message(FATAL_ERROR "tile_migrate_target(${target}): MODE is migrated or kept, not ${arg_MODE}")
  endif()

  set(files)
  foreach(file IN LISTS arg_KERNELS)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
    list(APPEND files "${file}")
  endforeach()
  # Sources that CUDA's compiler would take, were it enabled.
  set_source_files_properties(${files} PROPERTIES HEADER_FILE_ONLY TRUE)

  set(object "${CMAKE_CURRENT_BINARY_DIR}/${target}.tile-migrate.o")
  set(includes "$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>")
  foreach(foreign "${_HipifyTile_package}/compat/include" ${CUDAToolkit_INCLUDE_DIRS})
    string(REGEX REPLACE "([][+.*()^$?|\\\\])" "\\\\\\1" pattern "${foreign}")
    set(includes "$<FILTER:${includes},EXCLUDE,^${pattern}$>")
  endforeach()
  set(macros "$<FILTER:$<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>,EXCLUDE,^TM_HOST_UNIT$>")
  set(standard "$<TARGET_PROPERTY:${target},CXX_STANDARD>")
  add_custom_command(
    OUTPUT "${object}"
    BYPRODUCTS "${object}.kernels.json"
    COMMAND "${TILE_MIGRATE}" build ${files} -o "${object}" --mode ${arg_MODE} --dep-file "${object}.d"
            -q ${arg_OPTIONS} --
            "$<$<BOOL:${standard}>:-std=c++${standard}>"
            "$<$<BOOL:${includes}>:-I$<JOIN:${includes},;-I>>"
            "$<$<BOOL:${macros}>:-D$<JOIN:${macros},;-D>>" ${arg_FLAGS}
    DEPENDS ${files} ${arg_DEPENDS}
    DEPFILE "${object}.d"
    WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}"
    COMMAND_EXPAND_LISTS VERBATIM
    COMMENT "tile-migrate: kernels of ${target}")
  set_source_files_properties("${object}" PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  target_sources(${target} PRIVATE "${object}")
  set_property(TARGET ${target} PROPERTY LINKER_LANGUAGE CXX)
  target_link_libraries(${target} PUBLIC HipifyTile::cudart)
endfunction()
