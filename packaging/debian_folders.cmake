# Run by cpack on what was installed, before it is packed: what Debian wants elsewhere or compressed.

# changelog.gz follows Debian's own format: the newest release and its date, and where to find the full changelog.
file(STRINGS ${CPACK_OCTAVO_SOURCE}/CHANGELOG.md release REGEX "^## \\[[0-9]" LIMIT_COUNT 1)
string(REGEX REPLACE ".* - " "" day "${release}")
execute_process(COMMAND env LC_ALL=C date --utc --rfc-email --date=${day} OUTPUT_VARIABLE day OUTPUT_STRIP_TRAILING_WHITESPACE
  COMMAND_ERROR_IS_FATAL ANY)
function(add_documents usr package changes)
  set(doc ${usr}/share/doc/${package})
  file(COPY ${CPACK_OCTAVO_SOURCE}/packaging/copyright DESTINATION ${doc})
  file(WRITE ${doc}/changelog "${package} (${CPACK_PACKAGE_VERSION}) stable; urgency=medium

  * ${changes}

 -- ${CPACK_PACKAGE_CONTACT}  ${day}
")
  execute_process(COMMAND gzip -9n ${doc}/changelog COMMAND_ERROR_IS_FATAL ANY)
  configure_file(${CPACK_OCTAVO_SOURCE}/packaging/overrides ${usr}/share/lintian/overrides/${package} COPYONLY)
endfunction()

if(EXISTS ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/Mpi)
  add_documents(${CPACK_TEMPORARY_INSTALL_DIRECTORY}/Mpi/usr octavo-mpi "What is new stands in the CHANGELOG.md.gz of octavo.")
endif()

set(usr ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/Runtime/usr)
file(GLOB man ${usr}/share/man/man1/*.1)
foreach(page ${man})
  execute_process(COMMAND gzip -9n ${page} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
# Debian's zsh does not read site-functions below /usr.
file(MAKE_DIRECTORY ${usr}/share/zsh)
file(RENAME ${usr}/share/zsh/site-functions ${usr}/share/zsh/vendor-completions)
add_documents(${usr} octavo "What is new stands in CHANGELOG.md.gz.")
file(COPY ${CPACK_OCTAVO_SOURCE}/CHANGELOG.md DESTINATION ${usr}/share/doc/octavo)
execute_process(COMMAND gzip -9n ${usr}/share/doc/octavo/CHANGELOG.md COMMAND_ERROR_IS_FATAL ANY)
