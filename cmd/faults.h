// What would end the program without a word, or without a status: signals, and exceptions that nobody can catch.
#pragma once

namespace octavo {

// From here on
// - a pipe whose reader left, and a file that grows over the limit of the process, are errors of the write;
// - a mapped file that is cut, or whose disk fails, while it is read (SIGBUS) ends the program with a message that
// names
//   it and the exit code of damaged files;
// - to be out of memory where no exception may pass, in a library's destructor, ends it with a message and exit code 1.
// The last two leave what a kill leaves: the last commit of a training stands. Messages are JSON objects where `json`.
void CatchFaults(bool json);

}  // namespace octavo
