# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# webnn_add_model(<target> <model> [<option>...]): a static library of the model, compiled by webnnc with these options of its
# own, and <target>.h, whose names begin with the target's.  What links the target finds both, and libwebnn_rt if the object
# needs it.  A project that is built for another machine has its model compiled for that one.
function(webnn_add_model target model)
  if(NOT TARGET webnn::webnnc)
    message(FATAL_ERROR "webnn_add_model(${target}): there is no webnnc.  Install the package webnn-tools, or what webnnc is "
                        "built with (docs/building.md)")
  endif()
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  list(FILTER languages INCLUDE REGEX "^(C|CXX)$")
  list(GET languages 0 language)

  set(options ${ARGN})
  if(CMAKE_CROSSCOMPILING AND NOT ";${options};" MATCHES ";--target[=;]")
    set(triple ${CMAKE_${language}_COMPILER_TARGET})
    if(NOT triple)
      execute_process(COMMAND ${CMAKE_${language}_COMPILER} -dumpmachine OUTPUT_VARIABLE triple
                      OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    endif()
    if(NOT triple)
      message(FATAL_ERROR "webnn_add_model(${target}): ${CMAKE_${language}_COMPILER} does not tell what it compiles for: "
                          "give --target")
    endif()
    # GNU's compilers have one name for both ways to pass floating-point numbers, LLVM has two.
    if(triple MATCHES "eabi$" AND CMAKE_${language}_FLAGS MATCHES "-mfloat-abi=hard")
      string(APPEND triple hf)
    endif()
    list(PREPEND options --target ${triple})
    if(NOT ";${options};" MATCHES ";--cpu[=;]" AND CMAKE_${language}_FLAGS MATCHES "-mcpu=([^ ]+)")
      list(PREPEND options --cpu ${CMAKE_MATCH_1})
    endif()
  endif()
  # Code for other machines has no oneDNN by default; nor has it when this machine is named as a target.
  if(NOT ";${options};" MATCHES ";--library[=;]")
    if(";${options};" MATCHES ";--target[=;]")
      list(PREPEND options --library none)
    else()
      list(PREPEND options --library onednn)
    endif()
  endif()

  get_filename_component(model ${model} ABSOLUTE)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/webnn_models/${target})
  set(files ${folder}/${target}.o ${folder}/${target}.h)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(OUTPUT ${files} DEPENDS ${model} webnn::webnnc
                     COMMAND webnn::webnnc ${model} -o ${folder}/${target}.o --header ${folder}/${target}.h --name ${target}
                             ${options}
                     COMMENT "Compiling the model ${target}" VERBATIM)
  set_source_files_properties(${folder}/${target}.o PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  add_library(${target} STATIC ${files})
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE ${language})
  target_include_directories(${target} INTERFACE ${folder}
                             $<TARGET_PROPERTY:webnn::webnnc,INTERFACE_INCLUDE_DIRECTORIES>)
  if(";${options};" MATCHES ";--library[=;]onednn;")
    target_link_libraries(${target} INTERFACE webnn::webnn_rt)
  endif()
endfunction()
