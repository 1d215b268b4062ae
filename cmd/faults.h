// Handles what would end the program without a message or a status: signals, and exceptions that cannot be caught.
#pragma once

namespace octavo {

// From now on:
// - A pipe whose reader has left, and a file that grows over the limit of the process, are errors of the write.
// - If a page of a mapped file cannot be read (SIGBUS), the program ends with a message that names the file and the
//   byte: with the exit code for damaged files if the file was truncated, and with 1 if its disk failed.
// - Running out of memory where no exception may pass, e.g. in a library's destructor, ends the program with a message
//   and exit code 1.
// The last two leave the same state as a kill: the last commit of a training is valid. Messages are JSON objects with
// `json`.
void CatchFaults(bool json);

}  // namespace octavo
