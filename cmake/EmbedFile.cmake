# torchstone_embed_file(TARGET FILE VARIABLE HEADER): compiles the text of FILE into TARGET as the function
# `std::string_view torchstone::VARIABLE()` that HEADER declares, so that an installed library needs no source tree.
function(torchstone_embed_file target file variable header)
  file(READ ${file} content)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  # In pieces: a compiler need not take a literal of more than 65536 characters.
  set(literal "")
  string(LENGTH "${content}" left)
  set(at 0)
  while(at LESS left)
    string(SUBSTRING "${content}" ${at} 8000 piece)
    string(APPEND literal "    R\"embedded(${piece})embedded\"\n")
    math(EXPR at "${at} + 8000")
  endwhile()
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/${variable}.cpp)
  file(CONFIGURE OUTPUT ${generated} @ONLY CONTENT [[#include "@header@"

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
