# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# webnn_add_model(<target> <model> [<option>...]): a static library of the model, compiled by webnnc with these options of its
# own, and <target>.h, whose names begin with the target's.  What links the target finds both, and libwebnn_rt if the object
# needs it.
function(webnn_add_model target model)
  if(NOT TARGET webnn::webnnc)
    message(FATAL_ERROR "webnn_add_model(${target}): there is no webnnc.  Install the package webnn-tools, or what webnnc is "
                        "built with (docs/building.md)")
  endif()
  get_filename_component(model ${model} ABSOLUTE)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/webnn_models/${target})
  set(files ${folder}/${target}.o ${folder}/${target}.h)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(OUTPUT ${files} DEPENDS ${model} webnn::webnnc
                     COMMAND webnn::webnnc ${model} -o ${folder}/${target}.o --header ${folder}/${target}.h --name ${target}
                             ${ARGN}
                     COMMENT "Compiling the model ${target}" VERBATIM)
  set_source_files_properties(${folder}/${target}.o PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  add_library(${target} STATIC ${files})
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  list(FILTER languages INCLUDE REGEX "^(C|CXX)$")
  list(GET languages 0 language)
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE ${language})
  target_include_directories(${target} INTERFACE ${folder}
                             $<TARGET_PROPERTY:webnn::webnn_rt,INTERFACE_INCLUDE_DIRECTORIES>)
  # By default code for this machine has oneDNN, and code for others none.
  if(";${ARGN};" MATCHES ";--library[=;]onednn;" OR NOT ";${ARGN};" MATCHES ";--(target[=;]|library[=;]none;)")
    target_link_libraries(${target} INTERFACE webnn::webnn_rt)
  endif()
endfunction()
