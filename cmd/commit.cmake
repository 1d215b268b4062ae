# Writes commit.h, and touches it only where it says something else: cmake -DSOURCE=... -DOUTPUT=... -P commit.cmake
set(COMMIT "")
if(EXISTS ${SOURCE}/.git)
  execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=* OUTPUT_VARIABLE COMMIT
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
configure_file(${SOURCE}/cmd/commit.h.in ${OUTPUT} @ONLY)
