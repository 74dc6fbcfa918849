// Fails on purpose: shows what a failure looks like.
import { mistaken } from "./configs.ts";
import { testExpectations } from "./expectations.ts";

testExpectations(mistaken);
