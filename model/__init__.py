"""What a language model costs to run: passes, KV caches, schedulers, pages, chunks, guesses, servers. numpy only.

    from model import machine, pass_cost
    pass_cost(machine(llm="llama-3.1-8b", gpu="rtx-4090"), users=10, context=2048).pass_ms   # 18.60"""
from model.catalogue import gpu, gpus, kv_format, kv_formats, llm, llms, weight_format, weight_formats
from model.config import read_config
from model.machine import DATASHEET, Machine, machine
from model.memory import Memory, kv_memory
from model.passes import PassCost, pass_cost
from model.records import GPU, LLM, Format

__all__ = ["DATASHEET", "Format", "GPU", "LLM", "Machine", "Memory", "PassCost", "gpu", "gpus", "kv_format", "kv_formats",
           "kv_memory", "llm", "llms", "machine", "pass_cost", "read_config", "weight_format", "weight_formats"]
