# Run by cpack on what was installed, before it is packed: what Debian wants elsewhere or compressed.
set(usr ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/Runtime/usr)
file(GLOB man ${usr}/share/man/man1/*.1)
foreach(page ${man})
  execute_process(COMMAND gzip -9n ${page} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
# Debian's zsh does not read site-functions below /usr.
file(MAKE_DIRECTORY ${usr}/share/zsh ${usr}/share/doc/octavo)
file(RENAME ${usr}/share/zsh/site-functions ${usr}/share/zsh/vendor-completions)
file(COPY ${CPACK_OCTAVO_SOURCE}/packaging/copyright ${CPACK_OCTAVO_SOURCE}/CHANGELOG.md DESTINATION ${usr}/share/doc/octavo)
# changelog.gz follows Debian's own format: the newest release and its date, and where to find the full changelog.
file(STRINGS ${CPACK_OCTAVO_SOURCE}/CHANGELOG.md release REGEX "^## \\[[0-9]" LIMIT_COUNT 1)
string(REGEX REPLACE ".* - " "" day "${release}")
execute_process(COMMAND env LC_ALL=C date --utc --rfc-email --date=${day} OUTPUT_VARIABLE day OUTPUT_STRIP_TRAILING_WHITESPACE
  COMMAND_ERROR_IS_FATAL ANY)
file(WRITE ${usr}/share/doc/octavo/changelog "octavo (${CPACK_PACKAGE_VERSION}) stable; urgency=medium

  * What is new stands in CHANGELOG.md.gz.

 -- ${CPACK_PACKAGE_CONTACT}  ${day}
")
execute_process(COMMAND gzip -9n ${usr}/share/doc/octavo/changelog ${usr}/share/doc/octavo/CHANGELOG.md COMMAND_ERROR_IS_FATAL ANY)
configure_file(${CPACK_OCTAVO_SOURCE}/packaging/overrides ${usr}/share/lintian/overrides/octavo COPYONLY)
