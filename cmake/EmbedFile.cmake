# torchstone_embed_file(TARGET FILE VARIABLE HEADER): compiles the text of FILE into TARGET, so that an installed library needs
# no source tree. HEADER declares the function `std::string_view torchstone::VARIABLE()`. If HEADER is string_view, no header
# of the project declares it.
function(torchstone_embed_file target file variable header)
  file(READ ${file} content)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  # The text is split, because compilers may refuse literals of more than 65536 characters.
  set(literal "")
  string(LENGTH "${content}" left)
  set(at 0)
  while(at LESS left)
    string(SUBSTRING "${content}" ${at} 8000 piece)
    string(APPEND literal "    R\"embedded(${piece})embedded\"\n")
    math(EXPR at "${at} + 8000")
  endwhile()
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/${variable}.cpp)
  set(include "#include \"${header}\"")
  if(header STREQUAL string_view)
    set(include "#include <string_view>")
  endif()
  file(CONFIGURE OUTPUT ${generated} @ONLY CONTENT [[@include@

namespace torchstone {

std::string_view @variable@() {
  static constexpr std::string_view text =
@literal@    "";
  return text;
}

}  // namespace torchstone
]])
  target_sources(${target} PRIVATE ${generated})
  set_source_files_properties(${generated} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# torchstone_embed_modules(TARGET FUNCTION HEADER FOLDER modules… [FOLDER folder modules…]): compiles the texts of the folders'
# Python modules into TARGET. HEADER declares the function `std::map<std::string, std::string> torchstone::FUNCTION()`, whose
# keys are file names. The modules are later imported from a single folder, so their names must differ.
function(torchstone_embed_modules target function header folder)
  set(declarations "")
  set(entries "")
  set(before "")
  foreach(module ${ARGN})
    if(before STREQUAL FOLDER)
      set(folder ${module})
    endif()
    if(before STREQUAL FOLDER OR module STREQUAL FOLDER)
      set(before ${module})
      continue()
    endif()
    set(before ${module})
    set(text ${function}_${module})
    torchstone_embed_file(${target} ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/${module}.py ${text} string_view)
    string(APPEND declarations "std::string_view ${text}();\n")
    string(APPEND entries "      {\"${module}.py\", std::string(${text}())},\n")
  endforeach()
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/${function}.cpp)
  file(CONFIGURE OUTPUT ${generated} @ONLY CONTENT [[#include "@header@"

#include <string_view>

namespace torchstone {

@declarations@
std::map<std::string, std::string> @function@() {
  return {
@entries@  };
}

}  // namespace torchstone
]])
  target_sources(${target} PRIVATE ${generated})
  set_source_files_properties(${generated} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endfunction()
