# Packages: cpack in the build folder makes octavo_X.Y.Z_ARCH.deb, of the program without the libraries and headers, and
# with Open MPI octavo-mpi_X.Y.Z_ARCH.deb, of its plugin.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME octavo)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_VENDOR octavo)
# Whoever builds a package maintains it: set cpack -D CPACK_PACKAGE_CONTACT="Name <mail>".
set(CPACK_PACKAGE_CONTACT "The authors of octavo <octavo@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL Runtime)
if(MPICC_openmpi AND NOT OCTAVO_MPI STREQUAL "OFF")
  list(APPEND CPACK_COMPONENTS_ALL Mpi)
endif()
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME octavo)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Loaded at run time, only by export --format hdf5.
set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS libhdf5-103-1)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION "octavo trains embeddings of graphs and knowledge graphs larger than memory
on one ordinary machine, from the command line: it imports an edge list,
trains, survives any kill, resumes exactly where it was, evaluates, answers
queries and exports vectors.")
set(CPACK_DEBIAN_MPI_PACKAGE_NAME octavo-mpi)
set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "octavo (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_MPI_PACKAGE_RECOMMENDS "openmpi-bin, openssh-client")
set(CPACK_DEBIAN_MPI_DESCRIPTION "octavo on several machines
lets the machines of a job train one graph together: the part of octavo that
talks to Open MPI. Jobs start with mpirun or srun, as any program of MPI.")
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/packaging/debian_folders.cmake)
set(CPACK_OCTAVO_SOURCE ${PROJECT_SOURCE_DIR})
include(CPack)
