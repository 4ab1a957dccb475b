# Makes FOLDER/0.so to FOLDER/31.so: objects without code that define every version node of MAP and need LIBRARY by its soname.
# A file each, because the loader knows objects by their inode.
file(MAKE_DIRECTORY "${FOLDER}")
file(STRINGS "${MAP}" lines)
set(nodes "")
foreach(line IN LISTS lines)
  if(NOT line MATCHES "^  ")
    string(APPEND nodes "${line}\n")
  endif()
endforeach()
# A semicolon ends each node; reading the file as a list swallowed it.
string(REGEX REPLACE "(^|\n)}([^;\n]*)\n" "\\1}\\2;\n" nodes "${nodes}")
file(WRITE "${FOLDER}/nodes.map" "${nodes}")
file(WRITE "${FOLDER}/empty.c" "")
execute_process(
  COMMAND "${COMPILER}" -shared -fPIC -nostdlib "${FOLDER}/empty.c" -o "${FOLDER}/0.so" -Wl,-z,noseparate-code
          "-Wl,--version-script=${FOLDER}/nodes.map" -Wl,--no-as-needed "${LIBRARY}" -Wl,-z,noexecstack -Wl,-z,now -s
  COMMAND_ERROR_IS_FATAL ANY)
foreach(k RANGE 1 31)
  file(COPY_FILE "${FOLDER}/0.so" "${FOLDER}/${k}.so")
endforeach()
file(REMOVE "${FOLDER}/empty.c" "${FOLDER}/nodes.map")
