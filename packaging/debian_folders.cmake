# Run by cpack on what was installed, before it is packed: what Debian wants elsewhere or compressed.
set(usr ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/Runtime/usr)
file(GLOB man ${usr}/share/man/man1/*.1)
foreach(page ${man})
  execute_process(COMMAND gzip -9n ${page} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
# zsh of Debian reads no site-functions below /usr.
file(MAKE_DIRECTORY ${usr}/share/zsh ${usr}/share/doc/octavo)
file(RENAME ${usr}/share/zsh/site-functions ${usr}/share/zsh/vendor-completions)
file(COPY ${CPACK_OCTAVO_SOURCE}/packaging/copyright DESTINATION ${usr}/share/doc/octavo)
file(COPY ${CPACK_OCTAVO_SOURCE}/CHANGELOG.md DESTINATION ${usr}/share/doc/octavo)
file(RENAME ${usr}/share/doc/octavo/CHANGELOG.md ${usr}/share/doc/octavo/changelog)
execute_process(COMMAND gzip -9n ${usr}/share/doc/octavo/changelog COMMAND_ERROR_IS_FATAL ANY)
