// What a test starts in place of `imsg rpc`: passes lines between its own pipes and the test's Mac.
import { connect } from "node:net";

const socket = connect(Number(process.argv[2]), "127.0.0.1");
process.stdin.on("data", (data) => socket.write(data));
process.stdin.on("end", () => process.exit(0));
socket.on("data", (data) => process.stdout.write(data));
socket.on("error", () => process.exit(1));
socket.on("close", () => process.exit(0));
