/** The daemon of test/crash: each folder of tests is built by itself. */
import '../crash/daemon.program.js';
