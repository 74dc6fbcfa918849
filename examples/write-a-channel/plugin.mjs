// What `plugins` of earshot.json5 names: it brings the channel `pigeon`.
import { definePlugin } from "earshot";
import { pigeon } from "./pigeon.mjs";

export default definePlugin({ name: "pigeon", channels: [pigeon] });
