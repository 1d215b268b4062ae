# Writes version_facts.h, and changes it only with what it says: cmake -DSOURCE=... -DOUTPUT=... -DVERSION=... -P
file(STRINGS ${SOURCE}/CHANGELOG.md release REGEX "^## \\[[0-9]" LIMIT_COUNT 1)
string(REGEX REPLACE ".* - " "" DATE "${release}")
set(COMMIT "")
if(EXISTS ${SOURCE}/.git)
  execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=* OUTPUT_VARIABLE COMMIT
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
configure_file(${SOURCE}/cmd/version_facts.h.in ${OUTPUT} @ONLY)
