"""What a language model costs to run: passes, KV caches, schedulers, pages, chunks, guesses, servers. numpy only.

    from model import machine, pass_cost
    pass_cost(machine(llm="llama-3.1-8b", gpu="rtx-4090"), users=10, context=2048).pass_ms   # 18.60"""
from model.batching import Batch, Schedule, batch
from model.catalogue import gpu, gpus, kv_format, kv_formats, llm, llms, weight_format, weight_formats
from model.chunking import Chunked, chunked_prefill
from model.config import read_config
from model.machine import DATASHEET, Machine, machine
from model.memory import Memory, kv_memory
from model.paging import Pages, pages
from model.passes import PassCost, pass_cost
from model.records import GPU, LLM, Format
from model.served import Served
from model.server import serve
from model.settings import LlamaCppSettings, VllmSettings, llama_cpp_settings, vllm_settings
from model.speculation import Speculation, speculate
from model.trace import Trace, prefill_decode

__all__ = ["Batch", "Chunked", "DATASHEET", "Format", "GPU", "LLM", "LlamaCppSettings", "Machine", "Memory", "Pages",
           "PassCost", "Schedule", "Served", "Speculation", "Trace", "VllmSettings", "batch", "chunked_prefill",
           "gpu", "gpus", "kv_format", "kv_formats", "kv_memory", "llama_cpp_settings", "llm", "llms", "machine",
           "pages", "pass_cost", "prefill_decode", "read_config", "serve", "speculate", "vllm_settings",
           "weight_format", "weight_formats"]
