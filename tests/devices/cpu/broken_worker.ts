/** A CPU worker that does not start: for the tests of failure. */
throw new Error("injected fault at start");
