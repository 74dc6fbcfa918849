import { cafe } from "./configs.ts";
import { testExpectations } from "./expectations.ts";

testExpectations(cafe);
