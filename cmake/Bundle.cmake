# Part of cmake --install --component bundled. Copies the shared libraries that the programs in `built` need into
# `bundled_dir`, except for LibTorch's libraries and those that every Linux has.
file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${built} RESOLVED_DEPENDENCIES_VAR found UNRESOLVED_DEPENDENCIES_VAR missing
     PRE_EXCLUDE_REGEXES "^libtorch" "^libc10" "^libgomp" "^libshm" "^libcud" "^libnv" "^libmkl" "^libaoti"
                         "^ld-linux" "^lib(c|m|dl|rt|pthread|gcc_s|stdc\\+\\+|z)\\.so"
     PRE_INCLUDE_REGEXES "^libtorchstone_")
if(missing)
  list(JOIN missing ", " missing)
  message(FATAL_ERROR "not found, and so not bundled: ${missing}")
endif()
foreach(library IN LISTS found)
  get_filename_component(name ${library} NAME)
  if(NOT name MATCHES "^libtorchstone_")
    file(REAL_PATH ${library} real)
    file(INSTALL ${real} DESTINATION $ENV{DESTDIR}${bundled_dir} RENAME ${name})
  endif()
endforeach()
